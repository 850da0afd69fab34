if (user == "‮admin⁦") { /* ⁩ */
