"""`contacts FILE [--hosts]`: print merged contacts as lines of JSON, or how often hosts occur; settings.json has the country."""

import json
from pathlib import Path

from aegir_rl.simulator.families.packages.contacts.cleaner import clean_contact
from aegir_rl.simulator.families.packages.contacts.merging import count_hosts, merge
from aegir_rl.simulator.families.packages.contacts.reader import read_blocks


def main(arguments: list[str]) -> int:
    """0 if every contact has a name, 1 if not, 2 without a file."""
    if not arguments or not Path(arguments[0]).is_file():
        print("usage: contacts FILE [--hosts]")
        return 2
    settings = json.loads(Path("settings.json").read_text(encoding="utf-8"))
    blocks = read_blocks(Path(arguments[0]).read_text(encoding="utf-8"))
    contacts = merge([clean_contact(block, settings) for block in blocks])
    if "--hosts" in arguments[1:]:
        for host, count in count_hosts(contacts):
            print(f"{host} {count}")
        return 0
    for contact in contacts:
        print(json.dumps(contact, ensure_ascii=False, sort_keys=True))
    return 0 if all(contact["name"] for contact in contacts) else 1
