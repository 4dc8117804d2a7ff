import { validate } from '@bowline/machinery/schema';
import { describe, expect, it } from 'vitest';
import { config } from './config.ts';

describe('the endpoint of AWS', () => {
  it.each([
    'https://vpce-1.secretsmanager.eu-central-1.vpce.amazonaws.com',
    'http://127.0.0.1:4566/',
    'http://[::1]:1',
  ])('may be %s', (endpoint) => {
    expect(validate({ endpoint }, config.json)).toEqual([]);
  });

  it.each(['http://moto.test.svc:5000', 'http://127.0.0.1.example.com', 'http://localhost@example.com', 'ftp://a'])(
    'must not be %s, which lacks TLS or is not a valid URL',
    (endpoint) => {
      expect(validate({ endpoint }, config.json).map(({ field }) => field)).toEqual(['endpoint']);
    },
  );
});
