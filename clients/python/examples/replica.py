from candor_client import AsyncCandor
from candor_client.types import Employee, is_employee_event


async def replicate(candor: AsyncCandor, people: dict[str, Employee]) -> None:
    """Keeps a copy of all employees current until it is canceled."""
    # The position first: changes during the list are then in the feed.
    position = await candor.events.list(since="now").first()
    async for person in candor.employees.list(filter={"status": "all"}):
        people[person["id"]] = person
    async for event in candor.events.follow(cursor=position.next_cursor or ""):
        if is_employee_event(event):
            people[event["data"]["id"]] = event["data"]
