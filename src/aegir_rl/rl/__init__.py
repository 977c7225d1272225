"""Learning rules over episodes.

curriculum              draws tasks by measured competence
curriculum_strategies   estimates of success on every item, and weights from them
sum_tree                draws from many changing weights in O(log n)
schedules               lambdas and clip range over a training run
advantages              advantages within groups of episodes, or of decisions by GAE
clipped_objective       the policy loss over tokens, with its gradient
token_weights           which tokens are critical, and how much they weigh
kl_control              KL from a reference policy, and its coefficient
entropy                 entropy of a policy, with its gradient
tokens                  reading arrays of tokens and masks
critical_path           latency and cost of an episode's steps
"""

from aegir_rl.base.lazy import lazy_names

__getattr__ = lazy_names(__name__, __file__)
