"""Means of sensors: read a log, clean its readings, summarise them by hour."""
