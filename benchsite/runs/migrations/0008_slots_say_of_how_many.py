"""Sums of cost, time and tokens say of how many trials they are; stored ones are counted once from the trials.

The database counts by itself, some thousands of slots a statement. Whoever interrupts this finds nothing changed and
runs it again.
"""

import logging

from django.db import migrations, models
from django.db.models import Max

KNOWN = {"cost_n": "cost", "seconds_n": "seconds", "tokens_n": "tokens"}
PART = 20_000
log = logging.getLogger(__name__)


def count(apps, schema_editor):
    connection = schema_editor.connection
    Slot = apps.get_model("runs", "Slot")
    last = Slot.objects.using(connection.alias).aggregate(last=Max("pk"))["last"] or 0
    with connection.cursor() as cursor:
        for start in range(0, last, PART):
            cursor.execute(_update(), [start, start + PART])
            log.info("slots counted: %d of %d", min(start + PART, last), last)


def _update():
    return (
        f"UPDATE runs_slot SET ({', '.join(KNOWN)}) = ("
        f"SELECT {', '.join(f'count(t.{name})' for name in KNOWN.values())} FROM runs_trial t "
        "WHERE t.run_id = runs_slot.run_id AND t.cell_id = runs_slot.cell_id AND t.case_id = runs_slot.case_id"
        ") WHERE id > %s AND id <= %s"
    )


class Migration(migrations.Migration):
    dependencies = [
        ("runs", "0007_tallies_with_gaps"),
    ]

    operations = [
        *(migrations.AddField("slot", name, models.IntegerField(default=0)) for name in KNOWN),
        migrations.RunPython(count, migrations.RunPython.noop),
    ]
