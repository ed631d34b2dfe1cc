#!/usr/bin/env bash
# Builds the images in an Azure container registry, points the web apps at them, and waits until they are
# healthy. Needs the Azure CLI, signed in.
#   REGISTRY=myregistry GROUP=mygroup scripts/deploy.sh v0.13.0 [orchestrator|worker|gateway …]
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
  sed -n '2,4s/^# \{0,1\}//p' "$0"
  exit "${1:-0}"
}
[ "${1:-}" = "--help" ] && usage
tag=${1:?a tag is missing: $0 --help}
shift
: "${REGISTRY:?set it to the name of the container registry}" "${GROUP:?set it to the resource group}"
programs=("$@")
[ "${#programs[@]}" -gt 0 ] || programs=(orchestrator worker gateway)

for program in "${programs[@]}"; do
  case $program in
  orchestrator) image=rmhdagmaster file=deploy/Dockerfile app=${ORCHESTRATOR_APP:-rmhdagmaster} ;;
  worker) image=rmhdagworker file=deploy/Dockerfile.worker app=${WORKER_APP:-rmhdagworker} ;;
  gateway) image=rmhdaggateway file=deploy/Dockerfile.gateway app=${GATEWAY_APP:-rmhdaggateway} ;;
  *)
    echo "unknown program: $program (orchestrator, worker or gateway)" >&2
    exit 2
    ;;
  esac
  az acr build --registry "$REGISTRY" --platform linux/amd64 --image "$image:$tag" -f "$file" .
  # The tag must change: a restart alone does not fetch an image whose name is the same.
  az webapp config container set --name "$app" --resource-group "$GROUP" \
    --container-image-name "$REGISTRY.azurecr.io/$image:$tag" >/dev/null
  az webapp restart --name "$app" --resource-group "$GROUP"
  [ "$program" = worker ] && continue
  host=$(az webapp show --name "$app" --resource-group "$GROUP" --query defaultHostName --output tsv)
  for ((attempt = 1; ; attempt++)); do
    curl -fsS --max-time 10 "https://$host/livez" >/dev/null && break
    [ "$attempt" -lt 60 ] || { echo "$app does not answer at https://$host/livez" >&2; exit 1; }
    sleep 5
  done
  echo "$app runs $image:$tag"
done
