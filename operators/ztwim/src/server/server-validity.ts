import type { SpireServer } from '../api/spire-server.ts';
import type { Config } from '../config.ts';
import type { Acting } from '../operand/acting.ts';
import type { OperandCondition } from '../operand/condition.ts';
import {
  bundleProblem,
  federationProblem,
  jwtIssuerProblem,
  namespaceProblem,
  type Problem,
  validity,
} from '../operand/validity.ts';
import type { IdentityHistory } from '../spire/identity-history.ts';
import { checkTtls } from '../spire/ttl-rules.ts';
import { datastoreProblem, iamProblem } from './datastore.ts';
import { certManagerProblem } from './upstream.ts';

/** serverValidity returns whether the objects of a SpireServer can be rendered. */
export function serverValidity(
  object: SpireServer,
  { parent, values }: Acting,
  config: Config,
  more: { readonly history: IdentityHistory | undefined; readonly secretProblem?: Problem | undefined },
): OperandCondition {
  return validity(
    namespaceProblem(parent, config),
    jwtIssuerProblem(values.jwtIssuer),
    bundleProblem(values.bundleConfigMap),
    federationProblem(object.spec.federation?.federatesWith, values.trustDomain),
    datastoreProblem(object, more.history, values.trustDomain),
    iamProblem(object),
    certManagerProblem(object.spec, config),
    more.secretProblem,
  );
}

/** ttlValidity returns the condition about the validities of a SpireServer. */
export function ttlValidity({ spec }: SpireServer): OperandCondition {
  const { result, message } = checkTtls(spec);
  const reasons = { valid: 'TTLValidationSucceeded', warning: 'TTLValidationWarning', invalid: 'TTLValidationFailed' };
  return { type: 'TTLConfigurationValid', status: result !== 'invalid', reason: reasons[result], message };
}
