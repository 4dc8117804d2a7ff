import type { Operator } from '@bowline/runtime';
import { inManagerNamespace } from './displayed-resources.ts';

/** Without the command for events: users would not read more. */
const MAX_COMMANDS = 2;

/**
 * commandsToTry returns three commands that users can copy: the best of every operator first, then others, and finally
 * the events. They name the kubeconfig, and start Bowline the way it was started.
 */
export function commandsToTry(
  operators: readonly Operator[],
  kubeconfig: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const byOperator = operators.map((operator) => operator.local.suggestedCommands ?? sampleCommands(operator));
  const ranks = Array.from({ length: MAX_COMMANDS }, (_, rank) =>
    byOperator.flatMap((tries) => tries.slice(rank, rank + 1)),
  );
  const chosen = ranks.flat().slice(0, MAX_COMMANDS);
  const bowline = env.npm_lifecycle_event === undefined ? 'bowline' : 'npm run bowline --';
  const place = kubeconfig === undefined ? '' : ` --kubeconfig ${kubeconfig}`;
  return [...(chosen.length > 0 ? chosen : ['kubectl get namespaces']), 'kubectl get events -A --watch'].map((line) =>
    // kubectl accepts its flags anywhere; ours come after the words of a command.
    line.startsWith('bowline ')
      ? `${bowline} ${line.slice('bowline '.length)}${place}`
      : line.replace(/^kubectl/, `kubectl${place}`),
  );
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
