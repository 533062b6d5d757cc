"""Ways to choose: random, greedy, search, relaxations, whole groups; `auto` combines them."""
