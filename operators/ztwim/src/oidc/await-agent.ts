import { ConfigMap, DaemonSet } from '@bowline/kubernetes';
import { AGENT_HASH } from '../agent/agent-daemon-set.ts';
import { AGENT_CONF } from '../agent/agent-input.ts';
import { awaitTurn, type TurnResult, trustDomainOf } from '../cascade/await-turn.ts';
import type { Acting } from '../operand/acting.ts';
import { historyOf } from '../operand/identity-change.ts';
import { isRolledOut } from '../operand/workload-health.ts';
import { AGENT, OIDC_PROVIDER } from '../spire/names.ts';
import { fileHash } from '../spire/rendered-file.ts';
import type { OidcContext } from './controller.ts';
import { OIDC_CONF } from './oidc-input.ts';

/** awaitAgent decides whether the OIDC discovery provider may use the trust domain of the acting configuration. */
export async function awaitAgent({ get, deps, clock }: OidcContext, acting: Acting): Promise<TurnResult> {
  if (deps.config.createOnly) return { type: 'act' };
  const { operandNamespace: namespace } = deps.config;
  const { trustDomain: wanted } = acting.values;
  const rendered = trustDomainOf(get(ConfigMap, { namespace, name: OIDC_PROVIDER })?.data?.[OIDC_CONF], 'workload_api');
  const turn = { wanted, rendered, history: historyOf(acting), now: clock.now() };
  return awaitTurn(turn, 'the SPIRE agent', () => {
    const text = get(ConfigMap, { namespace, name: AGENT })?.data?.[AGENT_CONF];
    const workload = get(DaemonSet, { namespace, name: AGENT });
    const hash = workload?.spec?.template.metadata?.annotations?.[AGENT_HASH];
    if (text === undefined || trustDomainOf(text, 'agent') !== wanted) return false;
    return hash === fileHash(text) && isRolledOut({ kind: 'DaemonSet', object: workload });
  });
}
