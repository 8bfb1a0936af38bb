from candor_client import AsyncCandor
from candor_client.types import Employee


async def replicate(candor: AsyncCandor, people: dict[str, Employee]) -> None:
    """Keeps a copy of all employees current until it is canceled."""
    # The position first: changes during the list are then in the feed.
    position = await candor.events.list(since="now").first()
    async for person in candor.employees.list(filter={"status": "all"}):
        people[person["id"]] = person
    async for batch in candor.events.changes(cursor=position.next_cursor or ""):
        for row in batch.upserts:
            if row["type"] == "employee":
                people[row["data"]["id"]] = row["data"]
