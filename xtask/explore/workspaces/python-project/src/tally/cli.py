import sys

import requests

from tally.count import count


def read(place):
    if place.startswith("http"):
        return requests.get(place, timeout=10).text
    with open(place) as file:
        return file.read()


def main():
    for word, number in count(read(sys.argv[1])).items( ):
        print(number, word)
