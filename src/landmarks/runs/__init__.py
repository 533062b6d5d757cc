"""What a run reports and keeps while it works: progress, deadlines, checkpoints."""
