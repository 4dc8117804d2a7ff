import type { Endpoint, EndpointSlice } from '@bowline/kubernetes';
import {
  canonicalJson,
  dnsLabelProblems,
  dnsSubdomainProblems,
  type FieldProblem,
  labelKeyProblems,
} from '@bowline/machinery';
import type { Draft } from '../api-resource.ts';
import type { KindRules } from '../built-in-strategy.ts';
import { addressProblems, endpointAddressProblems } from './shared/address-problems.ts';
import { AGE, as, column } from './shared/column.ts';
import type { PartialObject } from './shared/partial-object.ts';
import { duplicate, IMMUTABLE, invalid, invalids, notSupported, oneOf, required, tooMany } from './shared/problems.ts';

const UNSET = '<unset>';
const MAX_DISPLAYED = 3;
const MAX_ENDPOINTS = 1_000;
const MAX_ADDRESSES = 100;
const MAX_PORTS = 20_000;

/** endpointSliceRules validates the addresses of a Service's pods. */
export const endpointSliceRules: KindRules = {
  applyDefaults(object) {
    const slice = as<EndpointSlice>(object);
    for (const port of slice.ports ?? []) {
      port.name ??= '';
      port.protocol ??= 'TCP';
    }
    for (const endpoint of slice.endpoints ?? []) endpoint.conditions ??= {};
    object.endpoints ??= null;
    object.ports ??= null;
  },
  prepareForCreate: emptyAsNull,
  prepareForUpdate: emptyAsNull,
  validate(object, old) {
    const slice = as<EndpointSlice>(object);
    const type = slice.addressType ?? '';
    if (old && type !== old.addressType) return [invalid('addressType', type, IMMUTABLE)];
    const problems = oneOf('addressType', type, ['FQDN', 'IPv4', 'IPv6']);
    if (problems.length > 0) return problems;
    return [...portProblems(slice), ...endpointProblems(slice)];
  },
  countsGeneration: (object, old) => contentOf(object) !== contentOf(old),
  columns: [
    column('AddressType', 'Type of the addresses.', (object) => as<EndpointSlice>(object).addressType ?? ''),
    column('Ports', 'Ports that receive traffic.', (object) =>
      shown((as<EndpointSlice>(object).ports ?? []).map(({ port, name }) => `${port ?? (name || '*')}`)),
    ),
    column('Endpoints', 'Addresses that receive traffic.', (object) =>
      shown((as<EndpointSlice>(object).endpoints ?? []).flatMap(({ addresses = [] }) => addresses)),
    ),
    AGE,
  ],
};

/** Absent lists are written as null. */
function emptyAsNull(object: Draft): void {
  const slice = as<EndpointSlice>(object);
  if (slice.endpoints?.length === 0) object.endpoints = null;
  if (slice.ports?.length === 0) object.ports = null;
}

/** Labels count too, because controllers that watch slices act on them. */
function contentOf({ metadata, addressType, endpoints, ports }: Draft): string {
  return canonicalJson({ labels: metadata.labels, addressType, endpoints, ports });
}

function shown(values: readonly string[]): string {
  if (values.length === 0) return UNSET;
  const more = values.length - MAX_DISPLAYED;
  return `${values.slice(0, MAX_DISPLAYED).join(',')}${more > 0 ? ` + ${more} more...` : ''}`;
}

function portProblems(slice: PartialObject<EndpointSlice>): FieldProblem[] {
  const ports = slice.ports ?? [];
  if (ports.length > MAX_PORTS) return [tooMany('ports', ports.length, MAX_PORTS)];
  const names = new Set<string>();
  return ports.flatMap(({ name = '', protocol = '', appProtocol }, index) => {
    const at = `ports[${index}]`;
    const problems = name === '' ? [] : invalids(`${at}.name`, name, dnsLabelProblems(name));
    if (names.has(name)) problems.push(duplicate(`${at}.name`, name));
    names.add(name);
    const protocols = ['SCTP', 'TCP', 'UDP'];
    if (!protocols.includes(protocol)) problems.push(notSupported(`${at}.protocol`, protocol, protocols));
    if (appProtocol !== undefined)
      problems.push(...invalids(`${at}.appProtocol`, appProtocol, labelKeyProblems(appProtocol)));
    return problems;
  });
}

function endpointProblems(slice: PartialObject<EndpointSlice>): FieldProblem[] {
  const endpoints = slice.endpoints ?? [];
  if (endpoints.length > MAX_ENDPOINTS) return [tooMany('endpoints', endpoints.length, MAX_ENDPOINTS)];
  return endpoints.flatMap((endpoint, index) => oneEndpoint(`endpoints[${index}]`, endpoint, slice.addressType ?? ''));
}

function oneEndpoint(at: string, endpoint: PartialObject<Endpoint>, type: string): FieldProblem[] {
  const { addresses = [], hostname, nodeName } = endpoint;
  const problems: FieldProblem[] = [];
  if (addresses.length === 0) problems.push(required(`${at}.addresses`, 'must contain at least 1 address'));
  if (addresses.length > MAX_ADDRESSES) problems.push(tooMany(`${at}.addresses`, addresses.length, MAX_ADDRESSES));
  for (const [index, address] of addresses.entries()) {
    const here = `${at}.addresses[${index}]`;
    if (type === 'FQDN') {
      problems.push(...invalids(here, address, dnsSubdomainProblems(address)));
      continue;
    }
    const wrong = addressProblems(here, address);
    const isOther = address.includes(':') !== (type === 'IPv6');
    if (wrong.length > 0) problems.push(...wrong);
    else if (isOther) problems.push(invalid(`${at}.addresses`, address, `must be an ${type} address`));
    else problems.push(...endpointAddressProblems(here, address));
  }
  if (hostname !== undefined) problems.push(...invalids(`${at}.hostname`, hostname, dnsLabelProblems(hostname)));
  if (nodeName !== undefined) problems.push(...invalids(`${at}.nodeName`, nodeName, dnsSubdomainProblems(nodeName)));
  return problems;
}
