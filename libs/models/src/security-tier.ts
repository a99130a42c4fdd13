import { z } from 'zod';

/** From most to least trusted: the service's own hosting region, any other EU region, everything else (specification, Model description). */
export const securityTier = z.enum(['secure', 'eu-hosted', 'us-cloud']);
export type SecurityTier = z.output<typeof securityTier>;

/** Whether a tier is trusted as much as another one, or more. */
export const isAsTrusted = (tier: SecurityTier, as: SecurityTier): boolean =>
  securityTier.options.indexOf(tier) <= securityTier.options.indexOf(as);

/** Regions in member states of the EU, as the large clouds name them. London, Zurich and Oslo are not among them. */
const EU_REGIONS: ReadonlySet<string> = new Set(
  // General, and AWS.
  (
    'eu europe eu-central-1 eu-west-1 eu-west-3 eu-north-1 eu-south-1 eu-south-2 eusc-de-east-1 ' +
    // Google Cloud.
    'europe-central2 europe-north1 europe-north2 europe-southwest1 europe-west1 europe-west3 europe-west4 europe-west8 europe-west9 europe-west10 europe-west12 ' +
    // Azure.
    'westeurope northeurope francecentral francesouth germanywestcentral germanynorth swedencentral swedensouth italynorth polandcentral spaincentral austriaeast belgiumcentral denmarkeast ' +
    // OVHcloud, Scaleway, Hetzner, IONOS.
    'gra rbx sbg waw par fr-par nl-ams pl-waw it-mil fsn1 nbg1 hel1 de-txl de-fra'
  ).split(' '),
);

/** The tier that the catalogue states, otherwise the one of the region. Tags and `locationLabel` are never asked. */
export const securityTierOf = (
  { securityTier: stated, region }: { readonly securityTier: SecurityTier | null; readonly region: string | null },
  hostingRegion: string | undefined,
): SecurityTier => {
  if (stated !== null) return stated;
  const place = region?.trim().toLowerCase();
  if (place === undefined) return 'us-cloud';
  if (place === hostingRegion?.trim().toLowerCase()) return 'secure';
  return EU_REGIONS.has(place) ? 'eu-hosted' : 'us-cloud';
};
