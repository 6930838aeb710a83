from collections import Counter


def count(text):
    """Counts the words of a text."""
    return Counter(text.lower().split())
