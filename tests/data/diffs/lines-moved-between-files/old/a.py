import os


def parse(text):
    key, _, value = text.partition('=')
    return key.strip(), value.strip()


print(os.name)
