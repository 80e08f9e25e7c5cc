"""Proving how many people are consistent: certified, falsified, and what is left undecided.

`space` says of whom: boxes of people. `refine` divides them, the heaviest first, while an
`Examiner` says of each box what is proven in it: `network` for dense layers, `forest` for trees.
`fairquant` and `fairify` are the published methods beside which that is judged. What was proven is
kept by `certificate`, and checked again, by other means, by `verify`.
"""
