"""Learning rules over episodes, and which task comes next.

curriculum              draws tasks by measured competence
curriculum_strategies   from measured competence to weights
sum_tree                draws from many changing weights in O(log n)
schedules               lambdas and clip range over a training run
advantages              advantages within groups of episodes
critical_path           latency and cost of an episode's steps
"""
