// Employees: imports of files of any size, beside the operations.

import { joined, split } from "./csv.js";
import { CandorError } from "./errors.js";
import { Employees } from "./generated/resources.js";
import type { CsvReport, UpsertEmployeesQuery } from "./generated/types.js";
import type { RequestOptions } from "./request.js";

/** Operations below `/employees`, and `importCsv`. */
export class EmployeeImport extends Employees {
  /**
   * Creates and updates people from a CSV file of any size, as `candor import` does.
   *
   * `csv` is a text, or bytes in UTF-8. A file above the limits of `upsert` is sent in parts, managers first, and waits for
   * the quota of files. The report is that of the whole file, with its row numbers. If a part fails with an error, the
   * rows of earlier parts stay: import the same file again. In a dry run a later part does not see new managers of an
   * earlier one.
   */
  readonly importCsv = async (
    csv: string | Uint8Array,
    options: RequestOptions & UpsertEmployeesQuery = {},
  ): Promise<CsvReport> => {
    const { parts, duplicates } = split(typeof csv === "string" ? csv : decoded(csv));
    const answers: CsvReport[] = [];
    for (const [at, part] of parts.entries()) {
      const { idempotencyKey: key } = options;
      // A key stands for one request.
      const idempotencyKey = key !== undefined && parts.length > 1 ? `${key}-${at + 1}` : key;
      answers.push(await this.upsert(part.text, { ...options, idempotencyKey }));
    }
    return joined(parts, answers, duplicates);
  };
}

function decoded(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new CandorError("The file is not in UTF-8: save it as CSV UTF-8.", { cause });
  }
}
