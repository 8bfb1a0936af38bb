import { Candor } from "@candor/client";

// Reads CANDOR_API_KEY and CANDOR_URL; both can be passed as `apiKey` and `baseUrl` instead.
const candor = new Candor();

// An address is taken once: with the time in it, the program runs again.
const email = `ada.${Date.now()}@example.com`;
const ada = await candor.employees.create({ email, first_name: "Ada", last_name: "Moreau" });
await candor.observations.create({
  employee_id: ada.id,
  type: "strength",
  observation: "Explained the outage to the customer calmly.",
});

for await (const observation of candor.observations.list({
  filter: { employee_id: ada.id },
  expand: ["employee"],
})) {
  console.log(observation.employee?.first_name, observation.observation);
}
