import { existsSync, readdirSync } from 'node:fs';
import type { CrashScenario } from './scenario.ts';

const folder = new URL('./scenarios/', import.meta.url);
const fileOf = (name: string): URL => new URL(`${name}/scenario.ts`, folder);

/** scenarioNames returns the operators that have a scenario: one folder each, named like the operator. */
export function scenarioNames(): readonly string[] {
  return readdirSync(folder)
    .filter((name) => existsSync(fileOf(name)))
    .sort();
}

/** loadScenario loads the scenario of an operator. */
export async function loadScenario(name: string): Promise<CrashScenario> {
  const { scenario } = (await import(fileOf(name).href)) as { scenario: CrashScenario };
  if (scenario.operator.name !== name) throw new Error(`${name} contains the scenario of ${scenario.operator.name}`);
  return scenario;
}
