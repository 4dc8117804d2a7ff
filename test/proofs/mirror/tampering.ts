import type { Devices } from '../../../operators/hsm-secrets/src/mirror/devices.ts';
import type { TokenService } from '../../../operators/hsm-secrets/src/token/token-service.ts';
import type { Tamper } from './world.ts';

const DAY_MS = 86_400_000;

function withTokens(devices: Devices, change: (token: TokenService) => Partial<TokenService>): Devices {
  const tokens = [...devices.tokens].map(([serial, token]) => [serial, { ...token, ...change(token) }] as const);
  return { ...devices, tokens: new Map(tokens) };
}

/** tampering holds ways to break mirroring. The model must detect each of them. */
export const tampering: Readonly<Record<string, Tamper>> = {
  'a read error is taken for an absent secret': {
    round: (devices) =>
      withTokens(devices, (token) => ({
        list: (prefix) => token.list(prefix).catch(() => []),
      })),
  },
  'devices that cannot be reached do not count': {
    round: (devices) => ({ ...devices, expected: [...devices.tokens.keys()] }),
  },
  'tombstones are not passed on': {
    round: (devices) =>
      withTokens(devices, (token) => ({
        list: async (prefix) => (await token.list(prefix)).filter(({ isDeleted }) => !isDeleted),
      })),
  },
  'tombstones are purged early': { roundClockMs: DAY_MS },
  'copies get a version of their own': {
    round: (devices) =>
      withTokens(devices, (token) => ({
        write: (path, data, metadata, options) => token.write(path, data, metadata, { ...options, version: undefined }),
      })),
  },
  'writes replace any version': {
    write: (devices) =>
      withTokens(devices, (token) => ({
        write: (path, data, metadata, options) =>
          token.write(path, data, metadata, { ...options, replaces: undefined }),
      })),
  },
  'writes that too few devices have accepted are acknowledged': { acknowledgesAll: true },
  'values are mixed up': {
    round: (devices) =>
      withTokens(devices, (token) => ({
        write: (path, _data, metadata, options) =>
          token.write(path, { value: Buffer.from('mixed up') }, metadata, options),
      })),
  },
};
