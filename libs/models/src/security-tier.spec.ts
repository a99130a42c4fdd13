import { securityTierOf } from './security-tier';

const tier = (region: string | null, hosting?: string, stated: 'secure' | 'eu-hosted' | 'us-cloud' | null = null) =>
  securityTierOf({ region, securityTier: stated }, hosting);

test('the security tier is what is stated, else what the region says, else the least', () => {
  expect(tier('us-east-1', undefined, 'secure')).toBe('secure');
  expect(tier('eu-central-1', 'eu-central-1')).toBe('secure');
  expect(tier(' EU-Central-1 ', 'eu-west-1')).toBe('eu-hosted');
  for (const region of ['germanywestcentral', 'europe-west4', 'fr-par']) expect(tier(region)).toBe('eu-hosted');
  for (const region of [
    'eu-west-2',
    'eu-central-2',
    'europe-west2',
    'europe-west6',
    'uksouth',
    'norwayeast',
    'us-east-1',
    'nowhere',
    '',
    null,
  ])
    expect(tier(region)).toBe('us-cloud');
});
