import { keyString, Pod, ServiceAccount } from '@bowline/kubernetes';
import { BowlineError } from '@bowline/runtime';
import { type Client, isNotFound } from '@bowline/runtime/client';
import type { AccountIdentity } from './control-plane.ts';

const DAY_SECONDS = 24 * 3600;

/**
 * accountToken requests, as an administrator, a ServiceAccount token that is valid for a day, bound to a Pod if the
 * identity names one.
 */
export async function accountToken(admin: Client, { serviceAccount, pod }: AccountIdentity): Promise<string> {
  try {
    const { token } = await admin.requestToken(serviceAccount, {
      expirationSeconds: DAY_SECONDS,
      ...(pod === undefined ? {} : { boundObject: { apiVersion: 'v1', kind: Pod.kind, name: pod } }),
    });
    return token;
  } catch (error) {
    if (!isNotFound(error)) throw error;
    const { namespace } = serviceAccount;
    const isPodMissing = pod !== undefined && error.details?.kind === Pod.plural;
    const missing = isPodMissing ? `the Pod ${keyString({ namespace, name: pod })}` : 'it';
    throw new BowlineError(
      'BOWLINE_IDENTITY_UNKNOWN',
      `cannot issue a token for the ${ServiceAccount.kind} ${keyString(serviceAccount)}: ${missing} does not exist; create it first`,
      { cause: error },
    );
  }
}
