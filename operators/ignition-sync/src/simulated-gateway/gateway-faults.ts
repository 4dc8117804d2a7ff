import { BowlineError, describeProblems, glob } from '@bowline/machinery';
import { applyDefaults, unknownFields, validate } from '@bowline/machinery/schema';
import { type Read, s, type Written } from '@bowline/runtime/resource';

const name = () => s.string().minLength(1).maxLength(255);
const milliseconds = () => s.integer('int32').min(0).max(600_000);

const responseFault = s.object({
  path: s.string().minLength(1).maxLength(1024).default('**').describe('A glob of the paths that are affected.'),
  method: s.enum(['GET', 'POST']).describe('Defaults to every method.').optional(),
  status: s.enum([401, 403, 404, 409, 500, 503]).describe('Defaults to the usual response.').optional(),
  latencyMs: milliseconds().default(0).describe('The delay of the response.'),
  times: s
    .integer('int32')
    .min(1)
    .max(1_000_000)
    .describe('After this many calls it ends. Defaults to never.')
    .optional(),
});

const session = s.object({ id: name(), user: name(), project: name().optional() });

/** gatewayFaults is the schema of what a simulated gateway does wrong, and of what its users do. */
export const gatewayFaults = s.object({
  responses: s
    .array(responseFault)
    .maxItems(64)
    .default([])
    .describe('Delays and errors of calls. The first one that matches applies.'),
  refuseConnections: s.boolean().default(false).describe('Whether the port is closed.'),
  automaticScanMs: milliseconds()
    .default(0)
    .describe('The interval at which the gateway scans by itself while no scan lock is held. 0: never.'),
  scanMs: milliseconds().default(0).describe('How long a scan takes at least.'),
  designers: s.array(session).maxItems(1000).default([]).describe('The connected Designers.'),
  sessions: s.array(session).maxItems(1000).default([]).describe('The open Perspective sessions.'),
  brokenProjects: s.array(name()).maxItems(1000).default([]).describe('Projects that the gateway cannot load.'),
});

/** GatewayFaults is what a simulated gateway does wrong, and what its users do. */
export type GatewayFaults = Read<typeof gatewayFaults>;

/** FaultChanges are the fields of the faults that change; the others stay. */
export type FaultChanges = Partial<Written<typeof gatewayFaults>>;

/** ResponseFault delays calls or responds to them with an error. */
export type ResponseFault = Read<typeof responseFault>;

/** NO_FAULTS is the behaviour of a gateway without faults and without users. */
export const NO_FAULTS: GatewayFaults = readFaults({});

/** readFaults validates faults and adds defaults. It throws BOWLINE_IGNITION_SIMULATION. */
export function readFaults(value: unknown): GatewayFaults {
  const complete = applyDefaults(value, gatewayFaults.json);
  const problems = validate(complete, gatewayFaults.json);
  const [unknown] = unknownFields(value, gatewayFaults.json);
  if (problems.length > 0 || unknown !== undefined)
    throw new BowlineError(
      'BOWLINE_IGNITION_SIMULATION',
      `cannot change the faults: ${unknown === undefined ? describeProblems(problems) : `unknown field ${unknown}`}`,
    );
  // It was validated against the schema that the type is derived from.
  return complete as GatewayFaults;
}

/** ActiveFaults applies the faults of responses, and counts those that end. */
export class ActiveFaults {
  #rules: { readonly fault: ResponseFault; readonly matches: (path: string) => boolean; left: number }[] = [];

  /** use replaces the faults. */
  use(faults: readonly ResponseFault[]): void {
    this.#rules = faults.map((fault) => ({
      fault,
      matches: glob(fault.path).matches,
      left: fault.times ?? Number.POSITIVE_INFINITY,
    }));
  }

  /** take returns the fault for a call. */
  take(method: string, path: string): ResponseFault | undefined {
    const rule = this.#rules.find(
      ({ fault, matches, left }) => left > 0 && (fault.method ?? method) === method && matches(path),
    );
    if (rule) rule.left--;
    return rule?.fault;
  }
}
