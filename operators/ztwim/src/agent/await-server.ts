import { ConfigMap, StatefulSet } from '@bowline/kubernetes';
import { awaitTurn, type TurnResult, trustDomainOf } from '../cascade/await-turn.ts';
import { trustDomainsIn } from '../cascade/bundle-domains.ts';
import type { Acting } from '../operand/acting.ts';
import { historyOf } from '../operand/identity-change.ts';
import { isRolledOut } from '../operand/workload-health.ts';
import { SERVER_CONF } from '../server/server-services.ts';
import { SERVER_HASHES } from '../server/server-stateful-set.ts';
import { AGENT, BUNDLE_KEY, SERVER } from '../spire/names.ts';
import { fileHash } from '../spire/rendered-file.ts';
import { AGENT_CONF } from './agent-input.ts';
import type { AgentContext } from './controller.ts';

/** awaitServer decides whether the agents may use the trust domain of the acting configuration. */
export function awaitServer(context: AgentContext, acting: Acting): Promise<TurnResult> {
  const { get, deps, clock } = context;
  const { operandNamespace: namespace } = deps.config;
  const { trustDomain: wanted } = acting.values;
  const rendered = trustDomainOf(get(ConfigMap, { namespace, name: AGENT })?.data?.[AGENT_CONF], 'agent');
  const turn = { wanted, rendered, history: historyOf(acting), now: clock.now() };
  return awaitTurn(turn, 'the SPIRE server', async () => {
    const text = get(ConfigMap, { namespace, name: SERVER })?.data?.[SERVER_CONF];
    const workload = get(StatefulSet, { namespace, name: SERVER });
    const hash = workload?.spec?.template.metadata?.annotations?.[SERVER_HASHES.server];
    if (text === undefined || trustDomainOf(text, 'server') !== wanted) return false;
    if (hash !== fileHash(text)) return false;
    return isRolledOut({ kind: 'StatefulSet', object: workload }) && (await hasOnly(context, acting, wanted));
  });
}

/** The agents bootstrap from the bundle, so it must not contain the certificates of the old trust domain any more. */
async function hasOnly({ live, deps }: AgentContext, { values }: Acting, wanted: string): Promise<boolean> {
  const key = { namespace: deps.config.operandNamespace, name: values.bundleConfigMap };
  const bundle = await live.find(ConfigMap, key);
  return [...trustDomainsIn(bundle?.data?.[BUNDLE_KEY] ?? '')].every((domain) => domain === wanted);
}
