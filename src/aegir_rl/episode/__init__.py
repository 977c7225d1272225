"""Decisions, episodes and batches of episodes: the nouns that rewards, health checks, learning rules,
off-policy evaluation and logs share.

    Decision        what was seen, what was chosen with which probability, by whom, at which cost
    Episode         the decisions of one task, in order, and the parts of its reward        (decisions.py)
    EpisodeBatch    many episodes as masked arrays, JSON lines in and out                   (batch.py)
"""

from aegir_rl.base.lazy import lazy_names

__getattr__ = lazy_names(__name__, __file__)
