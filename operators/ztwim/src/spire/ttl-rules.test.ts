import { describe, expect, it } from 'vitest';
import { checkTtls } from './ttl-rules.ts';

const check = (caValidity: string, defaultX509Validity: string, defaultJWTValidity: string) =>
  checkTtls({ caValidity, defaultX509Validity, defaultJWTValidity });

describe('checkTtls', () => {
  it.each([
    ['24h', '1h', '5m'],
    ['24h', '4h', '4h'],
    ['1008h', '168h', '5m'],
    ['8760h', '168h', '168h'],
  ])('accepts %s, %s, %s', (...validities) => {
    expect(check(...validities).result).toBe('valid');
  });

  it.each<[string, string, string, string]>([
    ['0s', '1h', '5m', 'caValidity must be more than 0'],
    ['24h', '0s', '5m', 'defaultX509Validity must be more than 0'],
    ['24h', '1h', '-1ns', 'defaultJWTValidity must be more than 0'],
    [
      '24h',
      '25h',
      '5m',
      'defaultX509Validity (25h) exceeds caValidity (24h); increase caValidity, or reduce defaultX509Validity',
    ],
    [
      '24h',
      '1h',
      '24h0m1s',
      'defaultJWTValidity (24h0m1s) exceeds caValidity (24h); increase caValidity, or reduce defaultJWTValidity',
    ],
  ])('refuses %s, %s, %s', (ca, x509, jwt, message) => {
    expect(check(ca, x509, jwt)).toEqual({ result: 'invalid', message });
  });

  it.each<[string, string, string, string]>([
    [
      '24h',
      '5h',
      '5m',
      'defaultX509Validity (5h) can be cut short, because the CA is replaced before caValidity (24h) ends; increase caValidity to at least 30h0m0s, or reduce defaultX509Validity to at most 4h0m0s',
    ],
    [
      '24h',
      '5h',
      '24h',
      'defaultX509Validity (5h) and defaultJWTValidity (24h) can be cut short, because the CA is replaced before caValidity (24h) ends; increase caValidity to at least 144h0m0s, or reduce defaultX509Validity and defaultJWTValidity to at most 4h0m0s',
    ],
    [
      '8760h',
      '169h',
      '5m',
      'defaultX509Validity (169h) can be cut short, because the CA is replaced before caValidity (8760h) ends; reduce defaultX509Validity to at most 168h0m0s',
    ],
  ])('warns about %s, %s, %s', (ca, x509, jwt, message) => {
    expect(check(ca, x509, jwt)).toEqual({ result: 'warning', message });
  });
});
