"""A language model behind an OpenAI-compatible endpoint that the user names; nothing is sent anywhere else.

annotator   tables in, scores out
prompt      what is asked, and the strict reading of the answer
client      the HTTP call: time limits, retries, token and cost accounting
"""
