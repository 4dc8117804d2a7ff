import type { ObjectKey } from '@bowline/kubernetes';
import { BowlineError } from '@bowline/runtime';
import { type Client, isNotFound } from '@bowline/runtime/client';

const DAY_SECONDS = 24 * 3600;

/** accountToken requests, as an administrator, a ServiceAccount token that is valid for a day. */
export async function accountToken(admin: Client, { namespace, name }: ObjectKey): Promise<string> {
  try {
    const { token } = await admin.requestToken({ namespace, name }, { expirationSeconds: DAY_SECONDS });
    return token;
  } catch (error) {
    if (!isNotFound(error)) throw error;
    throw new BowlineError(
      'BOWLINE_IDENTITY_UNKNOWN',
      `cannot issue a token for the ServiceAccount ${namespace}/${name}: it does not exist; create it first`,
      { cause: error },
    );
  }
}
