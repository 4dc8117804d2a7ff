import type { SyncProfile } from '../api/sync-profile.ts';
import { isAlwaysExcluded } from '../engine/tree/excluded-paths.ts';
import { renderTemplate, TemplateError } from '../templates/render-template.ts';

/** Judgement is whether a SyncProfile may be used, as the condition Accepted. */
export interface Judgement {
  readonly isAccepted: boolean;
  readonly reason: 'ValidationPassed' | 'ValidationFailed' | 'CycleDetected' | 'DependencyNotFound';
  readonly message: string;
}

/** ProfileSpec is the spec of a SyncProfile. */
export type ProfileSpec = SyncProfile['spec'];

/** judgeProfile returns whether a SyncProfile may be used, given all profiles of its namespace by name. */
export function judgeProfile(name: string, profiles: ReadonlyMap<string, ProfileSpec>): Judgement {
  const spec = profiles.get(name);
  const problem = spec && specProblem(spec);
  if (problem !== undefined) return refused('ValidationFailed', problem);
  const needed = dependenciesOf(name, profiles);
  const missing = needed.find((each) => !profiles.has(each));
  if (missing !== undefined) {
    const message = `spec.dependsOn: SyncProfile ${missing} does not exist; create it, or remove the dependency`;
    return refused('DependencyNotFound', message);
  }
  const cycle = cycleThrough(name, profiles);
  if (cycle === undefined) return { isAccepted: true, reason: 'ValidationPassed', message: 'the profile is valid' };
  const message = `spec.dependsOn: the profiles depend on each other: ${cycle.join(' -> ')}; remove one of the dependencies`;
  return refused('CycleDetected', message);
}

function refused(reason: Judgement['reason'], message: string): Judgement {
  return { isAccepted: false, reason, message };
}

/** dependenciesOf returns the names of the profiles that a profile itself names. */
export function dependenciesOf(name: string, profiles: ReadonlyMap<string, ProfileSpec>): string[] {
  return (profiles.get(name)?.dependsOn ?? []).map(({ profileName }) => profileName);
}

/** cycleThrough returns the shortest way from a profile to itself. */
function cycleThrough(name: string, profiles: ReadonlyMap<string, ProfileSpec>): readonly string[] | undefined {
  const reached = new Set<string>();
  let paths: (readonly string[])[] = [[name]];
  while (paths.length > 0) {
    const longer: (readonly string[])[] = [];
    for (const path of paths) {
      for (const next of dependenciesOf(path.at(-1) ?? '', profiles)) {
        if (next === name) return [...path, next];
        if (reached.has(next)) continue;
        reached.add(next);
        longer.push([...path, next]);
      }
    }
    paths = longer;
  }
  return undefined;
}

/** The values of these variables depend on the gateway; any value shows whether a template is valid. */
const SOME_GATEWAY = {
  gatewayName: 'gateway',
  podName: 'gateway-0',
  namespace: 'namespace',
  siteNumber: '1',
  ref: 'main',
  commit: '0'.repeat(40),
};

const LABEL_VARIABLE = /\{\{[ \t]*\.Labels\.[^{}]+\}\}/g;

/** specProblem returns what the schema cannot check: variables without a value, and destinations that are never written. */
function specProblem({ mappings, vars, deploymentMode }: ProfileSpec): string | undefined {
  const templates = mappings.flatMap(
    ({ source, destination, patches = [] }, index): [field: string, text: string][] => [
      [`spec.mappings[${index}].source`, source],
      [`spec.mappings[${index}].destination`, destination],
      ...patches.flatMap(({ set }, at) =>
        Object.entries(set).map(([path, text]): [string, string] => [
          `spec.mappings[${index}].patches[${at}].set[${path}]`,
          text,
        ]),
      ),
    ],
  );
  if (deploymentMode !== undefined) templates.push(['spec.deploymentMode.source', deploymentMode.source]);
  for (const [field, text] of templates) {
    const problem = templateProblem(field, text, vars);
    if (problem !== undefined) return problem;
  }
  const index = mappings.findIndex(({ destination }) => isAlwaysExcluded(destination));
  if (index < 0) return undefined;
  return `spec.mappings[${index}].destination: ${mappings[index]?.destination} is never written, because it belongs to the gateway or the agent; choose another`;
}

function templateProblem(field: string, text: string, vars: ProfileSpec['vars']): string | undefined {
  try {
    renderTemplate(text.replace(LABEL_VARIABLE, 'label'), { ...SOME_GATEWAY, vars }, { source: field });
    return undefined;
  } catch (error) {
    if (error instanceof TemplateError) return `${field}: ${error.placeholder}: ${error.problem}`;
    throw error;
  }
}
