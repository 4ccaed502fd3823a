"""What a run's --json says: its losses, and how long a step takes."""
TIMED_STEPS = 20
LOSS_TOLERANCE = {"f32": 1e-3, "bf16": 1e-2}  # relative: sums have another order


def losses_of(figures):
    return figures.get("numbers", {}).get("loss", [])


def wrong_losses(figures, case):
    """In which losses are not near those of processors; nothing where all are."""
    losses = [float("nan") if loss is None else loss for loss in losses_of(figures)]  # as JSON has it
    expected, tolerance = case["losses"], LOSS_TOLERANCE[case["precision"]]
    wrong = [f"{a:g} for {b:g}" for a, b in zip(losses, expected)
             if not abs(a - b) <= tolerance * abs(b)]
    if len(losses) != len(expected):
        wrong.append(f"{len(losses)} of them for {len(expected)}")
    return "losses: " + ", ".join(wrong) if wrong else ""


def step_ms(figures):
    """The median of the later half of TIMED_STEPS."""
    late = sorted(figures["seconds"][TIMED_STEPS // 2:])
    return 1e3 * late[len(late) // 2]
