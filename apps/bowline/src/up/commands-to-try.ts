import type { Operator } from '@bowline/runtime';
import { inManagerNamespace } from './displayed-resources.ts';

/** Of one operator, without the command for events: users would not read more. */
const MAX_COMMANDS = 2;

/** The category of the kinds of our operators. */
const CATEGORY = 'bowline';

/**
 * commandsToTry returns commands that users can copy, and finally the events. With several operators that have kinds in
 * our category, they start with a list of all objects, and one command of every operator that does more than read.
 * Otherwise they are the best of every operator first, then others. They name the kubeconfig, and start Bowline the way
 * it was started.
 */
export function commandsToTry(
  operators: readonly Operator[],
  kubeconfig: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const byOperator = operators.map((operator) => operator.local.suggestedCommands ?? sampleCommands(operator));
  const chosen = operators.filter(hasCategory).length > 1 ? overviewAndActions(byOperator) : bestCommands(byOperator);
  const bowline = env.npm_lifecycle_event === undefined ? 'bowline' : 'npm run bowline --';
  const place = kubeconfig === undefined ? '' : ` --kubeconfig ${kubeconfig}`;
  return [...(chosen.length > 0 ? chosen : ['kubectl get namespaces']), 'kubectl get events -A --watch'].map((line) =>
    // kubectl accepts its flags anywhere; ours come after the words of a command.
    line.startsWith('bowline ')
      ? `${bowline} ${line.slice('bowline '.length)}${place}`
      : line.replace(/^kubectl/, `kubectl${place}`),
  );
}

function overviewAndActions(byOperator: readonly (readonly string[])[]): readonly string[] {
  const actions = byOperator.flatMap((tries) =>
    tries.filter((line) => !/^kubectl (get|describe) /.test(line)).slice(0, 1),
  );
  return [`kubectl get ${CATEGORY} -A`, ...actions];
}

function bestCommands(byOperator: readonly (readonly string[])[]): readonly string[] {
  const ranks = Array.from({ length: MAX_COMMANDS }, (_, rank) =>
    byOperator.flatMap((tries) => tries.slice(rank, rank + 1)),
  );
  return ranks.flat().slice(0, MAX_COMMANDS);
}

function hasCategory({ resources }: Operator): boolean {
  return resources.some(({ definition }) => definition.categories?.includes(CATEGORY));
}

function sampleCommands({ resources, samples }: Operator): readonly string[] {
  for (const { kind, plural, scope } of resources) {
    const sample = samples.find((each) => each.kind === kind);
    if (!sample) continue;
    const { name, namespace } = inManagerNamespace(sample).metadata ?? {};
    const describe = `kubectl describe ${plural} ${name}`;
    return scope === 'Cluster'
      ? [`kubectl get ${plural}`, describe]
      : [`kubectl get ${plural} -A`, namespace === undefined ? describe : `${describe} -n ${namespace}`];
  }
  return [];
}
