import json
import sys


def count(text: str) -> dict[str, int]:
    return {"letters": sum(each.isalpha() for each in text)}


if __name__ == "__main__":
    params = json.load(sys.stdin)
    print("::progress 50 counting")
    print(json.dumps(count(params["text"])))
