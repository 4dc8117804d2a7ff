import { formatTime } from '@bowline/machinery';
import { isKindNotServed } from '@bowline/runtime/client';
import type { Config } from '../config.ts';
import type { OperandCondition } from '../operand/condition.ts';
import { OperatorCondition } from '../third-party/operator-condition.ts';
import type { ConfigContext } from './controller.ts';

const TYPE = 'Upgradeable';

/** upgradeable returns the condition whether another version of the operator may be installed now. */
export function upgradeable(available: OperandCondition, { createOnly }: Pick<Config, 'createOnly'>): OperandCondition {
  if (createOnly) {
    const message = 'another version would not change existing objects, because the setting createOnly is true';
    return { type: TYPE, status: false, reason: 'CreateOnlyModeEnabled', message };
  }
  if (!available.status) {
    const message = `another version may restart operands, which have to be ready first: ${available.message}`;
    return { type: TYPE, status: false, reason: 'OperandsNotAvailable', message };
  }
  return { type: TYPE, status: true, reason: 'Upgradeable', message: 'another version may be installed' };
}

/** reportToOlm writes a condition to the OperatorCondition that the settings name, unless it is there. */
export async function reportToOlm({ live, deps, clock }: ConfigContext, condition: OperandCondition): Promise<void> {
  const { operatorCondition: name } = deps.config;
  if (name === undefined) return;
  const key = { namespace: deps.namespace, name };
  const found = await live.find(OperatorCondition, key).catch((error: unknown) => {
    if (isKindNotServed(error)) return undefined;
    throw error;
  });
  if (!found) return;
  const { conditions = [] } = found.spec ?? {};
  const { type, reason, message } = condition;
  const status = condition.status ? 'True' : 'False';
  const known = conditions.find((each) => each.type === type);
  if (known?.status === status && known.reason === reason && known.message === message) return;
  const lastTransitionTime = known?.status === status ? known.lastTransitionTime : formatTime(clock.now());
  const others = conditions.filter((each) => each.type !== type);
  const body = { spec: { conditions: [...others, { type, status, reason, message, lastTransitionTime }] } };
  await live.patch(OperatorCondition, key, { type: 'merge', body });
}
