import time

from candor_client import Candor

# Reads CANDOR_API_KEY and CANDOR_URL; both can be passed as `api_key` and `base_url` instead.
with Candor() as candor:
    # An address is taken once: with the time in it, the program runs again.
    email = f"ada.{time.time_ns()}@example.com"
    ada = candor.employees.create(email=email, first_name="Ada", last_name="Moreau")
    candor.observations.create(
        employee_id=ada["id"],
        type="strength",
        observation="Explained the outage to the customer calmly.",
    )
    for observation in candor.observations.list(filter={"employee_id": ada["id"]}, expand="employee"):
        person = observation.get("employee")
        print(person and person["first_name"], observation["observation"])
