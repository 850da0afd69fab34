"""Sums of cost, time and tokens say of how many trials they are; stored ones are counted once from the trials."""

from django.db import migrations, models
from django.db.models import Count

KNOWN = {"cost_n": "cost", "seconds_n": "seconds", "tokens_n": "tokens"}


def count(apps, schema_editor):
    Run, Slot, Trial = (apps.get_model("runs", name) for name in ("Run", "Slot", "Trial"))
    using = schema_editor.connection.alias
    for run in Run.objects.using(using).values_list("pk", flat=True).iterator():
        rows = Trial.objects.using(using).filter(run=run).values("cell_id", "case_id")
        known = {
            (row["cell_id"], row["case_id"]): row
            for row in rows.annotate(**{name: Count(of) for name, of in KNOWN.items()}).order_by()
        }
        slots = list(Slot.objects.using(using).filter(run=run))
        for slot in slots:
            row = known.get((slot.cell_id, slot.case_id), {})
            for name in KNOWN:
                setattr(slot, name, row.get(name, 0))
        Slot.objects.using(using).bulk_update(slots, KNOWN, batch_size=500)


class Migration(migrations.Migration):
    dependencies = [
        ("runs", "0007_tallies_with_gaps"),
    ]

    operations = [
        *(migrations.AddField("slot", name, models.IntegerField(default=0)) for name in KNOWN),
        migrations.RunPython(count, migrations.RunPython.noop),
    ]
