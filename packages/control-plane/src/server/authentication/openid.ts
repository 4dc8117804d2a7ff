import type { ApiResponse, Route } from '../http/api-request.ts';
import type { ServiceAccountTokens } from './service-account-tokens.ts';

/** openIdRoute serves the keys that verify ServiceAccount tokens. `url` returns the address of this server. */
export function openIdRoute(tokens: ServiceAccountTokens, url: () => string): Route {
  return (info) => {
    if (info.isResource || info.verb !== 'get') return undefined;
    switch (info.path.replace(/\/$/, '')) {
      case '/.well-known/openid-configuration':
        return document('application/json', {
          issuer: tokens.issuer,
          jwks_uri: `${url()}/openid/v1/jwks`,
          response_types_supported: ['id_token'],
          subject_types_supported: ['public'],
          id_token_signing_alg_values_supported: [...new Set(tokens.keys.map(({ algorithm }) => algorithm))],
        });
      case '/openid/v1/jwks':
        return document('application/jwk-set+json', {
          keys: tokens.keys.map(({ id, algorithm, publicKey }) => {
            return { use: 'sig', kid: id, alg: algorithm, ...publicKey.export({ format: 'jwk' }) };
          }),
        });
      default:
        return undefined;
    }
  };
}

function document(type: string, value: unknown): ApiResponse {
  return {
    status: 200,
    headers: { 'content-type': type, 'cache-control': 'public, max-age=3600' },
    body: JSON.stringify(value),
  };
}
