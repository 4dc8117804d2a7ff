import { ConfigMap, DaemonSet, StatefulSet } from '@bowline/kubernetes';
import { awaitTurn, type TurnResult, trustDomainOf } from '../cascade/await-turn.ts';
import { trustDomainsIn } from '../cascade/bundle-domains.ts';
import type { Acting } from '../operand/acting.ts';
import { historyOf } from '../operand/identity-change.ts';
import { isRolledOut } from '../operand/workload-health.ts';
import { SERVER_CONF } from '../server/server-services.ts';
import { SERVER_HASHES } from '../server/server-stateful-set.ts';
import { AGENT, BUNDLE_KEY, SERVER } from '../spire/names.ts';
import { fileHash } from '../spire/rendered-file.ts';
import { BUNDLE_VOLUME } from './agent-daemon-set.ts';
import { AGENT_CONF } from './agent-input.ts';
import type { AgentContext } from './controller.ts';

/**
 * awaitServer decides whether the agents may use the acting configuration: its trust domain once the server uses it, its
 * cluster name and its bundle once the server has begun to use them. The server may have to wait for a user, and agents
 * would not get along with it meanwhile.
 */
export async function awaitServer(context: AgentContext, acting: Acting): Promise<TurnResult> {
  const { get, deps, clock } = context;
  if (deps.config.createOnly) return { type: 'act' };
  const { operandNamespace: namespace } = deps.config;
  const { trustDomain: wanted, clusterName } = acting.values;
  const rendered = trustDomainOf(get(ConfigMap, { namespace, name: AGENT })?.data?.[AGENT_CONF], 'agent');
  const history = historyOf(acting);
  const isFirst = rendered === undefined || history === undefined;
  if (!isFirst && history.clusterName.current !== clusterName) {
    return waitFor(`waiting until the SPIRE server uses the cluster name ${clusterName}`);
  }
  if (!isFirst && !(await hasBundle(context, acting))) {
    return waitFor(`waiting until the SPIRE server has created the ConfigMap ${acting.values.bundleConfigMap}`);
  }
  const turn = { wanted, rendered, history, now: clock.now() };
  return awaitTurn(turn, 'the SPIRE server', async () => {
    const text = get(ConfigMap, { namespace, name: SERVER })?.data?.[SERVER_CONF];
    const workload = get(StatefulSet, { namespace, name: SERVER });
    const hash = workload?.spec?.template.metadata?.annotations?.[SERVER_HASHES.server];
    if (text === undefined || trustDomainOf(text, 'server') !== wanted) return false;
    if (hash !== fileHash(text)) return false;
    return isRolledOut({ kind: 'StatefulSet', object: workload }) && (await hasOnly(context, acting, wanted));
  });
}

const POLL_MS = 2_000;

function waitFor(message: string): TurnResult {
  return { type: 'wait', message, requeueAfterMs: POLL_MS };
}

/** Pods that mount a ConfigMap that does not exist do not start. A bundle in use exists. */
async function hasBundle({ get, live, deps }: AgentContext, { values }: Acting): Promise<boolean> {
  const { operandNamespace: namespace } = deps.config;
  const { volumes = [] } = get(DaemonSet, { namespace, name: AGENT })?.spec?.template.spec ?? {};
  const mounted = volumes.find(({ name }) => name === BUNDLE_VOLUME)?.configMap?.name;
  if (mounted === undefined || mounted === values.bundleConfigMap) return true;
  return (await live.find(ConfigMap, { namespace, name: values.bundleConfigMap })) !== undefined;
}

/** The agents bootstrap from the bundle, so it must not contain the certificates of the old trust domain any more. */
async function hasOnly({ live, deps }: AgentContext, { values }: Acting, wanted: string): Promise<boolean> {
  const key = { namespace: deps.config.operandNamespace, name: values.bundleConfigMap };
  const bundle = await live.find(ConfigMap, key);
  return [...trustDomainsIn(bundle?.data?.[BUNDLE_KEY] ?? '')].every((domain) => domain === wanted);
}
