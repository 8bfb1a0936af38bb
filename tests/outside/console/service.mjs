// The service under test: its API with the key of the check, and a receiver of webhooks that can fail.
import { createServer } from "node:http";

const { CANDOR_URL: origin, CANDOR_API_KEY: key } = process.env;

/** Sends a request and returns its JSON; fails on errors. */
export async function api(method, path, body, headers = {}) {
  const isText = typeof body === "string";
  const answer = await fetch(`${origin}/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": isText ? "text/csv" : "application/json", ...headers },
    body: body === undefined ? undefined : isText ? body : JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`);
  return text ? JSON.parse(text) : null;
}

/** Starts a receiver on this machine that answers with its current `status`. */
export async function receiver() {
  const state = { status: 500, received: [] };
  const server = createServer((request, response) => {
    request.resume();
    request.on("end", () => {
      state.received.push(request.headers["x-service-event-id"]);
      response.writeHead(state.status).end();
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { state, url: `http://127.0.0.1:${server.address().port}/hooks`, close: () => server.close() };
}

/** Texts that must be shown as they are. */
export const HOSTILE = [
  "<script>document.title = 'broken'</script><img src=x onerror=alert(1)>",
  "[link](javascript:alert(1)) javascript:alert(2)",
  "left \u202eright to left\u202c and \u2066isolated\u2069",
  "w".repeat(3900),
];

/** Creates people, feedback, objectives and webhooks, so that each screen has something on it. */
export async function seed(receivers) {
  const department = await api("POST", "/departments", { name: "Product" });
  const person = (first_name, last_name, rest) => api("POST", "/employees", {
    email: `${first_name}.${last_name}@example.com`.toLowerCase(), first_name, last_name, department_id: department.id, ...rest,
  });
  const mara = await person("Mara", "Lindqvist", { role: "org_admin", job_title: "Managing director" });
  const jonas = await person("Jonas", "Okafor", { role: "manager", manager_id: mara.id, job_title: "Head of product" });
  const ines = await person("Ines", "Duarte", { role: "manager", manager_id: mara.id, job_title: "Head of customer care" });
  const ruth = await person("Ruth", "Abebe", { manager_id: ines.id, job_title: "Support specialist" });
  const hooks = [];
  for (const [at, url] of receivers.entries()) {
    hooks.push(await api("POST", "/webhooks", { url, event_types: ["*"], description: at === 0 ? "Payroll" : "Data warehouse" }));
  }
  const attributes = await api("GET", "/attributes?limit=3");
  const texts = ["Turned an angry caller into a reference customer.", "Explained the migration calmly to two teams.", ...HOSTILE];
  for (const [at, observation] of texts.entries()) {
    await api("POST", "/observations", { employee_id: ruth.id, author_id: ines.id, type: at % 2 ? "opportunity" : "strength", observation,
      impact: at === 0 ? "The contract was renewed." : null, attribute_ids: attributes.data.map((one) => one.id).slice(0, 2) });
  }
  const goals = [];
  for (const title of ["Half of the calls are solved at once", "Every team has a guide", "Answers within an hour", HOSTILE[0]]) {
    const goal = await api("POST", "/employee-objectives", { owner_id: ruth.id, title, period_start: "2026-01-01", period_end: "2027-12-31" });
    goals.push(await api("POST", `/employee-objectives/${goal.id}/submit`));
  }
  const summary = await api("POST", "/summaries", { employee_id: ruth.id, author_id: ines.id, title: "Ruth, first half", body: HOSTILE.join("\n\n") });
  await api("POST", `/summaries/${summary.id}/submit`);
  const talk = await api("POST", "/conversations", { title: "One to one", participant_ids: [ines.id, ruth.id] });
  await api("POST", `/conversations/${talk.id}/messages`, { author_id: ines.id, body: HOSTILE[2] });
  await api("POST", "/assignments", { title: "How is Ruth doing?", employee_id: ruth.id, requester_id: ines.id, reviewer_ids: [jonas.id, mara.id], due_date: "2026-01-31" });
  const connector = await api("POST", "/connectors", { type: "csv_feed", hris_source: "workday", mapped_custom_field_keys: ["city"] });
  await api("POST", `/employees/csv?connector_id=${connector.id}`, "email,first_name,last_name,custom.city\nleila@example.com,Leila,Haddad,Oslo\nbroken,A,B,Rome\n");
  return { mara, jonas, ines, ruth, hooks, goals };
}
