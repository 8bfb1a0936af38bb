// Steps that all tasks share.

export const nav = (page, name) => page.getByRole("navigation", { name: "Screens" }).getByRole("link", { name, exact: true }).first().click();
export const heading = (page, name) => page.getByRole("heading", { name, level: 1 }).waitFor();
