import { parseFieldSelector } from '@bowline/machinery';

/**
 * selectedName returns the only name that a list or watch with this field selector can match; undefined when it can
 * match several. For the API server's authorization it is the name of the request, so that a right by name covers it.
 */
export function selectedName(fieldSelector: string | undefined): string | undefined {
  if (!fieldSelector) return undefined;
  const { requirements } = parseFieldSelector(fieldSelector);
  return requirements.find(({ field, operator }) => field === 'metadata.name' && operator === '=')?.value;
}
