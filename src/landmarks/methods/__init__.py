"""Methods: random, greedy, search, relaxations, groups; `auto` combines them."""
