import { type ObjectKey, Secret } from '@bowline/kubernetes';
import { isConflict } from '@bowline/runtime/client';
import { askDevices } from '../mirror/devices.ts';
import { trimmedPin } from '../token/pin/pin-source.ts';
import type { ApiCall, ApiResult, ApiTools } from './api-call.ts';
import { ApiProblem, invalid } from './api-problem.ts';
import { type DeviceFailure, deviceResult, partialMessage, requireTargets } from './read-secrets.ts';
import { requireKnown } from './secret-body.ts';

const MAX_PIN_BYTES = 255;

interface PinLocation extends ObjectKey {
  readonly namespace: string;
  /** The key of the current PIN. */
  readonly key: string;
  /** The key of the PIN that is being set. */
  readonly nextKey: string;
}

/**
 * changePin sets a new PIN on all devices. The new PIN is stored beside the old one before any device has it, and
 * replaces it once all devices have it: whatever interrupts a change, both PINs are stored, and repeating it completes
 * it.
 */
export async function changePin(call: ApiCall, tools: ApiTools): Promise<ApiResult> {
  const { deviceKey, user, devices, body, signal } = call;
  const newPin = pinIn(body);
  try {
    const location = locationOf(call);
    await requireSecretAccess(call, tools, location);
    const serials = devices.used.map(({ serialNumber }) => serialNumber);
    if (serials.length === 0) requireTargets(call);
    await storeNext(call, tools, location, newPin);
    const replies = await askDevices(serials, devices, (token) => token.changePin(newPin, signal), signal);
    const failures = [...replies].flatMap(([serial, reply]): DeviceFailure[] =>
      'error' in reply ? [{ serial, error: reply.error }] : [],
    );
    const results = serials.map((serial) => deviceResult(serial, failures));
    if (failures.length > 0) {
      const partial = partialMessage(failures, serials.length);
      tools.log.warn('PIN not changed on all devices', {
        user,
        device: deviceKey,
        failed: failures.map(({ serial }) => serial),
      });
      const message = `the PIN is not yet changed: ${partial}; repeat the change with the same PIN to complete it`;
      const isRefused = failures.every(({ error }) => error.problem.startsWith('PIN'));
      if (failures.length === serials.length)
        throw new ApiProblem(503, isRefused ? 'pin_refused' : 'hsm_unavailable', message, {
          details: { devices: results },
        });
      return { status: 206, message, data: { device: deviceKey, devices: results } };
    }
    await promoteNext(call, tools, location, newPin);
    tools.log.info('PIN changed through the API', { user, device: deviceKey });
    return {
      message: `the PIN was changed on ${serials.length} devices`,
      data: { device: deviceKey, devices: results },
    };
  } finally {
    newPin.fill(0);
  }
}

function pinIn(body: ApiCall['body']): Buffer {
  requireKnown(body, ['newPin'], 'the body');
  const { newPin } = body;
  if (typeof newPin !== 'string') throw invalid('newPin must be a string');
  const pin = Buffer.from(newPin, 'utf8');
  // An agent reads the PIN from a file, without line breaks at its end.
  if (pin.length === 0 || pin.length > MAX_PIN_BYTES || trimmedPin(pin).length !== pin.length)
    throw invalid(`newPin must have 1 to ${MAX_PIN_BYTES} bytes, and no line break at its end`);
  return pin;
}

function locationOf({ device, deviceKey }: ApiCall): PinLocation {
  const namespace = device.metadata?.namespace ?? '';
  const { pinSecret } = device.spec.pkcs11 ?? {};
  if (!pinSecret || (pinSecret.namespace !== undefined && pinSecret.namespace !== namespace))
    throw invalid(`the HSMDevice ${deviceKey} has no PIN Secret in its namespace; set pkcs11.pinSecret`);
  const { name, key } = pinSecret;
  return { namespace, name, key, nextKey: `${key}.next` };
}

/** The PIN Secret belongs to users: only one who may change it may have it changed. */
async function requireSecretAccess(
  { authorization, user }: ApiCall,
  { access }: ApiTools,
  { namespace, name }: PinLocation,
): Promise<void> {
  const question = { verb: 'update', resource: 'secrets', namespace, name };
  const { verdict } = await access.decide(authorization, question);
  if (verdict === 'allowed') return;
  const message = `${user} may not update the Secret ${namespace}/${name} with the PIN; allow it with a Role for secrets`;
  throw new ApiProblem(403, 'forbidden', message, { details: question });
}

/** storeNext stores the new PIN beside the current one. An unfinished change to another PIN must be completed first. */
async function storeNext(call: ApiCall, { client }: ApiTools, location: PinLocation, newPin: Buffer): Promise<void> {
  const { namespace, name, key, nextKey } = location;
  const { signal } = call;
  const secret = await client.find(Secret, { namespace, name }, { signal });
  if (!secret?.data?.[key])
    throw invalid(`the Secret ${namespace}/${name} has no key ${key} with the current PIN; add it`);
  const stored = secret.data[nextKey];
  if (stored !== undefined) {
    if (trimmedPin(Buffer.from(stored, 'base64')).equals(newPin)) return;
    const message = `a change to another PIN was interrupted, and some devices may have that PIN already: repeat the change with the PIN in the key ${nextKey} of the Secret ${namespace}/${name}, then change it again`;
    throw new ApiProblem(409, 'validation_failed', message);
  }
  await patchPin(call, client, location, secret, { [nextKey]: newPin.toString('base64') });
}

/** promoteNext makes the new PIN the current one. */
async function promoteNext(call: ApiCall, { client }: ApiTools, location: PinLocation, newPin: Buffer): Promise<void> {
  const { namespace, name, key, nextKey } = location;
  const secret = await client.get(Secret, { namespace, name }, { signal: call.signal });
  await patchPin(call, client, location, secret, { [key]: newPin.toString('base64'), [nextKey]: null });
}

async function patchPin(
  { signal }: ApiCall,
  client: ApiTools['client'],
  { namespace, name }: PinLocation,
  { metadata }: Secret,
  data: Readonly<Record<string, string | null>>,
): Promise<void> {
  const body = { metadata: { uid: metadata?.uid, resourceVersion: metadata?.resourceVersion }, data };
  try {
    await client.patch(Secret, { namespace, name }, { type: 'merge', body }, { signal });
  } catch (error) {
    if (!isConflict(error)) throw error;
    const message = `the Secret ${namespace}/${name} was changed at the same time; repeat the change of the PIN`;
    throw new ApiProblem(409, 'hsm_write_error', message, { retryAfterSeconds: 1 });
  }
}
