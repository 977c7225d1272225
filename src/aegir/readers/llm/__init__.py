"""A language model behind an OpenAI-compatible endpoint that the user names; nothing is sent anywhere else."""
