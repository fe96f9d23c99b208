"""GPUs. Peaks without sparsity; bandwidths one way. Where peers disagree, the source says so."""

from dataclasses import replace

from pycore.specs.gpu_spec import GpuSpec

_GIGA = 10**9

A100_40GB_SXM = GpuSpec(
    name="A100-40GB-SXM",
    memory_bytes=42_949_672_960,
    bandwidth=1_555 * _GIGA,
    flops_16=312_000 * _GIGA,
    flops_8=0,
    host_bandwidth=32 * _GIGA,
    link_bandwidth=300 * _GIGA,
    source=("servcalc 0.1.0 and NVIDIA's data sheet; the GPU of vLLM Table 1 (13B on one A100 40 GB)"),
)
# The data sheet's "40 GB" taken at its word, as in the facts of scenario A and in many a back-of-an-envelope
# sum; the card itself has 40 GiB, see A100_40GB_SXM.
A100_40GB = replace(
    A100_40GB_SXM,
    name="A100-40GB",
    memory_bytes=40 * _GIGA,
    source="NVIDIA A100 data sheet, GB as 10⁹ bytes",
)
A100_80GB_SXM = GpuSpec(
    name="A100-80GB-SXM",
    memory_bytes=85_899_345_920,
    bandwidth=2_039 * _GIGA,
    flops_16=312_000 * _GIGA,
    flops_8=0,
    host_bandwidth=32 * _GIGA,
    link_bandwidth=300 * _GIGA,
    source=(
        "aiconfigurator@095f58a51 systems/a100_sxm.yaml (NVIDIA, Apache-2.0); vllm-sr-sim and BLIS agree"
    ),
)
A100_80GB_PCIE = GpuSpec(
    name="A100-80GB-PCIe",
    memory_bytes=85_899_345_920,
    bandwidth=1_935 * _GIGA,
    flops_16=312_000 * _GIGA,
    flops_8=0,
    host_bandwidth=32 * _GIGA,
    link_bandwidth=32 * _GIGA,
    source="aiconfigurator@095f58a51 systems/a100_pcie.yaml (NVIDIA, Apache-2.0)",
)
H100_SXM = GpuSpec(
    name="H100-SXM",
    memory_bytes=85_899_345_920,
    bandwidth=3_350 * _GIGA,
    flops_16=989_000 * _GIGA,
    flops_8=1_978_000 * _GIGA,
    host_bandwidth=64 * _GIGA,
    link_bandwidth=450 * _GIGA,
    source="aiconfigurator@095f58a51 systems/h100_sxm.yaml (NVIDIA, Apache-2.0); BLIS uses 989.5",
)
H100_PCIE = GpuSpec(
    name="H100-PCIe",
    memory_bytes=85_899_345_920,
    bandwidth=2_000 * _GIGA,
    flops_16=756_500 * _GIGA,
    flops_8=1_513_000 * _GIGA,
    host_bandwidth=64 * _GIGA,
    link_bandwidth=64 * _GIGA,
    source="aiconfigurator@095f58a51 systems/h100_pcie.yaml (NVIDIA, Apache-2.0)",
)
H200_SXM = GpuSpec(
    name="H200-SXM",
    memory_bytes=151_397_597_184,
    bandwidth=4_800 * _GIGA,
    flops_16=989_000 * _GIGA,
    flops_8=1_978_000 * _GIGA,
    host_bandwidth=64 * _GIGA,
    link_bandwidth=450 * _GIGA,
    source=(
        "aiconfigurator@095f58a51 systems/h200_sxm.yaml (NVIDIA, Apache-2.0) (141 GiB there; the "
        "datasheet says 141 GB)"
    ),
)
B200_SXM = GpuSpec(
    name="B200-SXM",
    memory_bytes=193_273_528_320,
    bandwidth=7_700 * _GIGA,
    flops_16=2_250_000 * _GIGA,
    flops_8=4_500_000 * _GIGA,
    host_bandwidth=128 * _GIGA,
    link_bandwidth=900 * _GIGA,
    source=(
        "aiconfigurator@095f58a51 systems/b200_sxm.yaml (NVIDIA, Apache-2.0) (7.7 TB/s, 180 GiB); "
        "vllm-sr-sim and servcalc use 8.0 TB/s: peers disagree by 3.9 %"
    ),
)
GB200 = GpuSpec(
    name="GB200",
    memory_bytes=198_674_743_296,
    bandwidth=8_000 * _GIGA,
    flops_16=2_500_000 * _GIGA,
    flops_8=5_000_000 * _GIGA,
    host_bandwidth=64 * _GIGA,
    link_bandwidth=900 * _GIGA,
    source="aiconfigurator@095f58a51 systems/gb200.yaml (NVIDIA, Apache-2.0)",
)
B300_SXM = GpuSpec(
    name="B300-SXM",
    memory_bytes=288_400_343_040,
    bandwidth=7_750 * _GIGA,
    flops_16=2_250_000 * _GIGA,
    flops_8=4_500_000 * _GIGA,
    host_bandwidth=128 * _GIGA,
    link_bandwidth=900 * _GIGA,
    source="aiconfigurator@095f58a51 systems/b300_sxm.yaml (NVIDIA, Apache-2.0)",
)
L40S = GpuSpec(
    name="L40S",
    memory_bytes=48_305_799_168,
    bandwidth=864 * _GIGA,
    flops_16=362_050 * _GIGA,
    flops_8=733_000 * _GIGA,
    host_bandwidth=32 * _GIGA,
    link_bandwidth=32 * _GIGA,
    source=(
        "aiconfigurator@095f58a51 systems/l40s.yaml (NVIDIA, Apache-2.0); BLIS lists 1466 TFLOPS fp8 "
        "which is the sparse figure"
    ),
)
L4 = GpuSpec(
    name="L4",
    memory_bytes=25_769_803_776,
    bandwidth=300 * _GIGA,
    flops_16=121_000 * _GIGA,
    flops_8=242_000 * _GIGA,
    host_bandwidth=32 * _GIGA,
    link_bandwidth=32 * _GIGA,
    source="aiconfigurator@095f58a51 systems/l4.yaml (NVIDIA, Apache-2.0)",
)
A30 = GpuSpec(
    name="A30",
    memory_bytes=25_769_803_776,
    bandwidth=933 * _GIGA,
    flops_16=165_000 * _GIGA,
    flops_8=0,
    host_bandwidth=32 * _GIGA,
    link_bandwidth=32 * _GIGA,
    source="aiconfigurator@095f58a51 systems/a30.yaml (NVIDIA, Apache-2.0)",
)
RTX_PRO_6000 = GpuSpec(
    name="RTX-PRO-6000",
    memory_bytes=102_641_958_912,
    bandwidth=1_792 * _GIGA,
    flops_16=467_800 * _GIGA,
    flops_8=935_600 * _GIGA,
    host_bandwidth=64 * _GIGA,
    link_bandwidth=64 * _GIGA,
    source="aiconfigurator@095f58a51 systems/rtx_pro_6000_server.yaml (NVIDIA, Apache-2.0)",
)
RTX_4090 = GpuSpec(
    name="RTX-4090",
    memory_bytes=25_769_803_776,
    bandwidth=1_008 * _GIGA,
    flops_16=165_200 * _GIGA,
    flops_8=330_300 * _GIGA,
    host_bandwidth=32 * _GIGA,
    link_bandwidth=32 * _GIGA,
    source="servcalc 0.1.0 (1008 GB/s, 165 TFLOPS); LLMServingSim RTX4090 example config (1008 GB/s)",
)
A10G = GpuSpec(
    name="A10G",
    memory_bytes=25_769_803_776,
    bandwidth=600 * _GIGA,
    flops_16=70_000 * _GIGA,
    flops_8=0,
    host_bandwidth=32 * _GIGA,
    link_bandwidth=32 * _GIGA,
    source=(
        "NVIDIA A10G: 600 GB/s and 70 TFLOPS dense with 16 bits; servcalc lists the A10, whose 125 TFLOPS "
        "are another card's"
    ),
)

GPUS: dict[str, GpuSpec] = {
    gpu.name: gpu
    for gpu in (
        A100_40GB_SXM,
        A100_40GB,
        A100_80GB_SXM,
        A100_80GB_PCIE,
        H100_SXM,
        H100_PCIE,
        H200_SXM,
        B200_SXM,
        GB200,
        B300_SXM,
        L40S,
        L4,
        A30,
        RTX_PRO_6000,
        RTX_4090,
        A10G,
    )
}

# What people say as well → the name here.
GPU_ALIASES: dict[str, str] = {
    "A100": "A100-80GB-SXM",
    "A100-80GB": "A100-80GB-SXM",
    "H100": "H100-SXM",
    "H100-80GB": "H100-SXM",
    "H200": "H200-SXM",
    "B200": "B200-SXM",
    "B300": "B300-SXM",
    "NVIDIA GeForce RTX 4090": "RTX-4090",
}
