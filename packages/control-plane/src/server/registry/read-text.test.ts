import { describe, expect, it } from 'vitest';
import { readBytes, readQuantity, readTime } from './read-text.ts';

describe('texts are stored in canonical form', () => {
  it.each([
    ['1024Mi', '1Gi'],
    ['2.50', '2500m'],
    [0.1, '100m'],
    ['1e3', '1e3'],
    [10n ** 20n, '100E'],
  ])('for the quantity %s', (given, text) => {
    expect(readQuantity(given)).toEqual({ text });
  });

  it.each([
    ['YQ==\n', 'YQ=='],
    ['YR==', 'YQ=='],
    ['', ''],
    ['YWJj', 'YWJj'],
  ])('for the bytes %j', (given, text) => {
    expect(readBytes(given)).toEqual({ text });
  });

  it.each([
    ['2020-01-01T01:00:00.5+01:00', 'firstTimestamp', '2020-01-01T00:00:00Z'],
    ['2020-01-01T01:00:00.123456+01:00', 'renewTime', '2020-01-01T00:00:00.123456Z'],
  ])('for the time %s in %s', (given, field, text) => {
    expect(readTime(given, field)).toEqual({ text });
  });
});

describe('refused texts have the message of the API server', () => {
  it.each([
    ['x!', 1],
    ['YQ', 0],
    ['YWJjYQ', 4],
    [' YQ==', 0],
    ['YQ==YQ==', 4],
    ['YQ=x', 2],
    ['=', 0],
  ])('for the bytes %j', (given, at) => {
    expect(readBytes(given)).toEqual({ problem: `illegal base64 data at input byte ${at}` });
  });

  it.each([
    ['x', 'cannot parse "x" as "2006"'],
    ['2020-01-01T00:00:00Z', 'cannot parse "Z" as ".000000"'],
    ['2020-13-01T00:00:00.123456Z', 'month out of range'],
    ['2020-02-30T00:00:00.123456Z', 'day out of range'],
    ['2020-01-01T00:00:00.123456Zx', 'extra text: "x"'],
  ])('for the time %s', (given, problem) => {
    expect(readTime(given, 'renewTime')).toEqual({ problem: expect.stringContaining(problem) as string });
  });

  it.each(['nope', '', true, {}])('for the quantity %j', (given) => {
    expect(readQuantity(given)).toEqual({ problem: expect.stringContaining('quantities must match') as string });
  });
});
