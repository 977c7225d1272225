"""A language model behind an OpenAI-compatible endpoint that the user names; nothing is sent anywhere else.

annotator   tables in, scores out
prompt      what is asked, and the strict reading of the answer

The HTTP call, with time limits, retries, token and cost accounting, is aegir_rl/base/llm_client.py.
"""
